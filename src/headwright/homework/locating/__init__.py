"""Which answer belongs to which question.

Reading order: `locate` tells the way; `numbering` (where labels lead), `evidence` (what content
speaks for), `label_evidence` (what labels and titles speak for, course by course) and `walk` (the
best sequence of questions) are its steps, and `left_out` finds numbers with nothing behind them.
`unanswered` adds what is asked and was not found: in the handout's words (`asked`, which reads its
`blocks`) or by its numbers (`editions`). `silent` tells what says nothing; `answer` is the result
as the judges get it.
"""
