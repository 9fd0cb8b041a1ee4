"""The commands around a class: sheets, packs, the sample course."""
