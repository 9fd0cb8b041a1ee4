"""Proofs that permuted rows give permuted rows, as people write them."""

import pytest

LABEL = "Permuting the input, X_perm = PX.\n\n"

# name -> (proof, status)
PROOFS = {
    "product before parentheses": (
        r"$Q' = PQ$, $K' = PK$, $V' = PV$, so $Q'K'^T = PQ(PK)^T = PQK^TP^T$ and "
        r"$$Z' = \text{softmax}\left(\frac{PQK^TP^T}{\sqrt{d}}\right)PV "
        r"= P\,\text{softmax}\left(\frac{QK^T}{\sqrt{d}}\right)P^TPV = PZ$$",
        "correct",
    ),
    "ones": (
        r"$P\mathbf{1} = \mathbf{1}$ and $P^{-1}\mathbf{1} = \mathbf{1}$, $P^\top P = I$. "
        r"$$\hat H = \mathrm{softmax}\Big(\frac{PQK^\top P^\top}{\sqrt d}\Big)PV = PH$$ "
        r"$$\hat Z = \mathrm{ReLU}(PHW_1 + \mathbf{1}b_1)W_2 + \mathbf{1}b_2 "
        r"= P(\mathrm{ReLU}(HW_1 + \mathbf{1}b_1)W_2 + \mathbf{1}b_2) = PZ$$ "
        r"because $\mathrm{softmax}(PMP^\top) = P\,\mathrm{softmax}(M)P^\top$, where "
        r"$$\mathrm{softmax}\Big(\frac{PQK^\top P^\top}{\sqrt d}\Big) "
        r"= P\,\mathrm{softmax}\Big(\frac{QK^\top}{\sqrt d}\Big)P^\top$$",
        "correct",
    ),
    "bold products": (
        r"$$\begin{aligned} \mathbf{H}_\pi &= \mathrm{softmax}(\mathbf{PQK}^\top\mathbf{P}^\top"
        r"/\sqrt{d})\,\mathbf{PV} \\ &= \mathbf{P}\,\mathrm{softmax}(\mathbf{QK}^\top/\sqrt{d})"
        r"\mathbf{P}^\top\mathbf{PV} \quad \because \mathbf{P}^\top = \mathbf{P}^{-1} \\ "
        r"&= \mathbf{P}\,\mathrm{softmax}(\mathbf{QK}^\top/\sqrt{d})\,\mathbf{IV} \\ "
        r"&= \mathbf{PH} \end{aligned}$$",
        "correct",
    ),
    "no scaling": (
        r"$X_\pi = P_\pi X$. $$H_\pi = \text{softmax}(P_\pi Q K^T P_\pi^T) P_\pi V "
        r"= P_\pi \text{softmax}(QK^T) P_\pi^T P_\pi V = P_\pi H$$",
        "correct",
    ),
    "scores with a letter": (
        r"Write $S = QK^T/\sqrt{d}$. Then $\tilde S = \tilde Q \tilde K^T/\sqrt d = P S P^T$, "
        r"$\tilde V = PV$ and $\tilde H = \text{softmax}(\tilde S)\tilde V = "
        r"\text{softmax}(PSP^T)PV = P\,\text{softmax}(S)P^T P V = P H$.",
        "correct",
    ),
    "weights with a letter": (
        r"Let $A = \text{softmax}(QK^T/\sqrt d)$, then $A' = \text{softmax}(PQK^TP^T/\sqrt d) = "
        r"PAP^T$ and the output is $H' = A'V' = PAP^TPV = PAV = PH$.",
        "correct",
    ),
    "a function of the input": (
        r"$f(X) = \text{softmax}\left(\frac{XW_Q(XW_K)^T}{\sqrt d}\right)XW_V$. Then "
        r"$$f(PX) = \text{softmax}\left(\frac{PXW_QW_K^TX^TP^T}{\sqrt d}\right)PXW_V "
        r"= P\,\text{softmax}\left(\frac{XW_QW_K^TX^T}{\sqrt d}\right)P^TPXW_V = Pf(X)$$",
        "correct",
    ),
    "a mark of its own": (
        r"Let $X_2 = PX$. $Q_2 = X_2W_Q = PQ$, $K_2 = PK$, $V_2 = PV$, "
        r"$\text{softmax}(Q_2K_2^T/\sqrt d) = P\,\text{softmax}(QK^T/\sqrt d)P^T$, $H_2 = PH$.",
        "correct",
    ),
    "three arguments": (
        r"$\text{Attention}(PQ, PK, PV) = \text{softmax}(PQK^TP^T/\sqrt d)PV "
        r"= P\,\text{softmax}(QK^T/\sqrt d)V = P\,\text{Attention}(Q, K, V)$",
        "correct",
    ),
    "sigma is a nonlinearity": (
        r"$H_{perm} = \text{softmax}(PQK^TP^T/\sqrt d)PV = P\,\text{softmax}(QK^T/\sqrt d)V = PH$. "
        r"$\sigma(PA) = P\sigma(A)$ for any $A$.",
        "correct",
    ),
    "sigma is the softmax": (
        r"$H_{perm} = \sigma(PQK^TP^T/\sqrt d)PV = P\sigma(QK^T/\sqrt d)P^TPV = PH$ with "
        r"the softmax $\sigma$ row by row; $\sigma(PSP^T) = P\sigma(S)P^T$.",
        "correct",
    ),
    "a perceptron after it": (
        r"$H_{perm} = \text{softmax}(PQK^TP^T/\sqrt d)PV = P\,\text{softmax}(QK^T/\sqrt d)V = PH$, "
        r"and $Z_{perm} = \text{MLP}(H_{perm}) = \text{MLP}(PH) = P\,\text{MLP}(H) = PZ$.",
        "correct",
    ),
    "superscripts": (
        r"$X^{perm} = PX$, $Q^{perm} = PXW^Q = PQ$, "
        r"$H^{perm} = \text{softmax}(\frac{PXW^Q(PXW^K)^T}{\sqrt{d_k}})PXW^V "
        r"= P\,\text{softmax}(\frac{QK^T}{\sqrt{d_k}})V = PH$",
        "correct",
    ),
    "an arrow": (
        r"$X \to PX$, $Q \to PQ$, $K \to PK$, $V \to PV$, "
        r"$QK^T \to PQK^TP^T$, $\text{softmax}(PQK^TP^T) = P\,\text{softmax}(QK^T)P^T$, $Z \to PZ$",
        "correct",
    ),
    "biases as columns": (
        r"$H_{perm} = \text{softmax}(PQK^TP^T/\sqrt d)PV = P\,\text{softmax}(QK^T/\sqrt d)V = PH$, "
        r"$Z_{perm} = \text{ReLU}(PHW_1 + \mathbf{1}b_1^T)W_2 + \mathbf{1}b_2^T "
        r"= P\,\text{ReLU}(HW_1 + \mathbf{1}b_1^T)W_2 + P\mathbf{1}b_2^T = PZ$",
        "correct",
    ),
    "a residual": (
        r"$H_{perm} = \text{softmax}(PQK^TP^T/\sqrt d)PV = P\,\text{softmax}(QK^T/\sqrt d)V = PH$, "
        r"then $Z_{perm} = H_{perm} + X_{perm} = PH + PX = P(H + X) = PZ$.",
        "correct",
    ),
    "any matrix is the scores": (
        r"Take $A = \frac{QK^\top}{\sqrt d}$ in $\text{softmax}(PAP^\top) = P\,\text{softmax}(A)"
        r"P^\top$: $H_{perm} = P\,\text{softmax}(A)P^\top PV = PH$.",
        "correct",
    ),
    "plain text": (
        "Q_perm = PQ, K_perm = PK, V_perm = PV.\n\n"
        "H_perm = softmax(P Q K^T P^T/sqrt(d)) P V = P softmax(Q K^T/sqrt(d)) P^T P V = P H",
        "correct",
    ),
    "Chinese": (
        "由 $X_{perm}=PX$ 得 $Q_{perm}=PQ$，$K_{perm}=PK$，$V_{perm}=PV$，因此\n"
        r"$$H_{perm}=softmax(\frac{PQK^TP^T}{\sqrt{d}})PV=P\,softmax(\frac{QK^T}{\sqrt{d}})V=PH$$",
        "correct",
    ),
    "a slip on the way": (
        r"$Q_{perm} = PQ$, $K_{perm} = PQ$, $V_{perm} = PV$. $H_{perm} = \text{softmax}(PQK^TP^T/"
        r"\sqrt d)PV = P\,\text{softmax}(QK^T/\sqrt d)P^TPV = PH$.",
        "unread",
    ),
    "the inverse permutation": (
        r"$X_{perm} = P^TX$, $H_{perm} = \text{softmax}(P^TQK^TP/\sqrt d)P^TV "
        r"= P^T\text{softmax}(QK^T/\sqrt d)V = P^TH$",
        "unread",
    ),
    "only the claim": (r"Therefore $Z_{perm} = PZ$, as was to be shown.", "unread"),
    "columns are tokens": (
        r"$X' = XP$, $Q' = W_QXP = QP$, $K' = KP$, $Z' = ZP$.",
        "unread",
    ),
    "permuted from the right": (
        r"$X_{perm} = XP$, $Q_{perm} = XPW_Q$, $K_{perm} = XPW_K$, and so $Z_{perm} = ZP$.",
        "wrong",
    ),
    "nothing moves": (
        r"$Q_{perm} = PQ$, $K_{perm} = PK$, $V_{perm} = PV$, the permutations cancel and "
        r"$H_{perm} = H$, $Z_{perm} = Z$.",
        "wrong",
    ),
}


@pytest.fixture(scope="module")
def reports(judged_apart):
    return judged_apart([LABEL + proof for proof, _ in PROOFS.values()])


@pytest.mark.parametrize("name", PROOFS)
def test_proofs(reports, name):
    proof, status = PROOFS[name]
    verdicts = {v["question"]: v for v in reports[LABEL + proof]["verdicts"]}
    assert verdicts["p.perm"]["status"] == status, verdicts["p.perm"]


@pytest.mark.parametrize("name", [name for name, (_, s) in PROOFS.items() if s == "correct"])
def test_no_step_of_a_right_proof_is_flagged(reports, name):
    verdicts = reports[LABEL + PROOFS[name][0]]["verdicts"]
    flagged = [step for v in verdicts for step in v["steps"] if step["status"] == "wrong"]
    assert not flagged
