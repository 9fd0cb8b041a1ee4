"""How well it computes: `numbers` against exact references, `gradients` against differences."""
