"""Explanations in the user's dialect: the words of each framework, and what its functions are called.

In a PyTorch program advice names `torch.where` and `requires_grad_()`, not `lab.where` and tapes. `WORDS` holds the
sentences that differ, by framework and cause; `NAMES` what stands in place of our functions in all others.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from autodiff_lab.explain.words import WORDS as OURS

WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "torch": {
        "not_watched": (
            "{s} does not require a gradient, so autograd did not follow what was computed from it.",
            "Make it with requires_grad=True, or call {code}.requires_grad_() before it is used.",
        ),
        "watched_too_late": (
            "{s} required a gradient only after {op} had used it.",
            "Move {code}.requires_grad_() in front of the first op that uses it.",
        ),
        "not_trainable": (
            "{s} is a parameter with requires_grad=False: it is frozen.",
            "Call {code}.requires_grad_(), or requires_grad_() of its module, before the forward pass.",
        ),
        "left_engine": (
            "{x} left PyTorch by {how} and {more} as a constant, which has no history.",
            "Keep it a tensor: use the function of torch instead of the NumPy or Python one.",
        ),
        "overwritten": (
            "{x} left PyTorch by {how} and its name was given to a plain number or array, which {more} as a constant.",
            "Keep {x} a tensor: use the function of torch in this line.",
        ),
        "replaced": (
            "{s} is no longer the leaf: this line gave its name to a new tensor, which does not require a gradient.",
            "Change the leaf in place: `with torch.no_grad(): {code} -= ...`, or use an optimizer.",
        ),
        "not_leaf": (
            "{s} is the result of {op}, not a leaf, and backward() fills `.grad` of leaves only.",
            (
                "Change the leaf in place inside torch.no_grad() instead of giving its name to an expression; for the "
                "gradient of an intermediate value call {code}.retain_grad() before backward()."
            ),
        ),
        "state_read": (
            "Outside of autograd, {x} was written into the leaf {more}, so no gradient passes through it.",
            "Use the tensor itself in the formula, and write it into the parameter afterwards.",
        ),
        "stop_gradient": (
            "{op} returns {x} without its history, so no gradient passes back through it.",
            "Remove {op} if {s} should get a gradient from {t}.",
        ),
        "recording_stopped": (
            "{op} ran inside torch.no_grad, so autograd did not record it.",
            "Move this line out of the torch.no_grad block; to stop one gradient on purpose, detach() is clearer.",
        ),
        "inner_gradient_outside": (
            "The gradient was taken without create_graph=True, so autograd did not record how it follows from {s}.",
            "Pass create_graph=True to this torch.autograd.grad or backward call.",
        ),
        "rule_gave_none": (
            "The backward method of {op} returned None for {x}.",
            "Return a gradient for every input from the backward method.",
        ),
        "control_flow": (
            "{s} only decided, by {how}, which lines ran or which element was taken; {t} was not computed from it.",
            "A choice has no derivative. For a smooth choice, try torch.sigmoid as a weight.",
        ),
        "no_path": ("", "Check that the formula of {t} uses {s}, and not another tensor of the same name."),
        "graph_freed": (
            "The backward pass in this line freed what autograd had saved, and a later one needed it again.",
            "Compute the loss again for the second pass, or pass retain_graph=True to the first.",
        ),
        "saved_value_changed": (
            "{op} wrote in place over a value that autograd had saved for the backward pass.",
            "Use the form of {op} that makes a new tensor, or clone() the tensor before it is written into.",
        ),
        "grad_not_cleared": (
            "`.grad` of {s} still held the gradient of the turn before, and backward() added to it.",
            "Call optimizer.zero_grad() in each turn, before backward().",
        ),
        "grad_cleared_too_soon": (
            "The gradient of {s} was cleared in this line, before the optimizer used it.",
            "Call zero_grad() before backward(), or after optimizer.step().",
        ),
        "not_in_optimizer": (
            "{s} gets a gradient, but the optimizer that made a step in this line does not hold it.",
            "Pass all parameters to the optimizer, and make it after the model is complete.",
        ),
        "underflow": (
            "The gradient becomes 0 in {op}: {dtype} has no number as small as this one.",
            "Scale the loss with torch.amp.GradScaler, or use bfloat16, whose range is that of float32.",
        ),
    },
    "jax": {
        "not_watched": (
            "{s} is not among the arguments that the gradient is taken with respect to.",
            "Name its argument in wrt=, as in argnums of jax.grad.",
        ),
        "stop_gradient": (
            "jax.lax.stop_gradient returns {x} unchanged and blocks its gradient.",
            "Remove jax.lax.stop_gradient if {s} should get a gradient from {t}.",
        ),
        "left_engine": (
            "{x} left JAX by {how} and {more} as a constant, which has no history.",
            "Use the function of jax.numpy instead of the NumPy or Python one.",
        ),
        "control_flow": (
            "{s} only decided, by {how}, which branch ran or which element was taken; {t} was not computed from it.",
            "A choice has no derivative. For a smooth choice, try jax.nn.sigmoid as a weight.",
        ),
        "rule_gave_none": (
            "The derivative rule of {op} passes nothing to {x}.",
            "Return a tangent or cotangent for it from the rule, if it has a derivative.",
        ),
        "inner_gradient_outside": (
            "The gradient was recorded as a value, without the ops that made it.",
            "Pass order=2 to record.",
        ),
        "no_path": ("", "Check that the formula of {t} uses {s}, and not another value of the same name."),
    },
}

NAMES: dict[str, dict[str, str]] = {
    "torch": {
        "lab.nn.leaky_relu": "F.leaky_relu",
        "lab.nn.softmax": "torch.softmax",
        "lab.nn.log_softmax": "F.log_softmax",
        "lab.nn.softplus": "F.softplus",
        "lab.math.": "torch.",
        "lab.reduce_max": "torch.amax",
        "lab.reduce_min": "torch.amin",
        "lab.custom_gradient": "a torch.autograd.Function",
        "lab.cast back": "a cast back",
        "lab.Variable({number}.0), or with dtype=lab.float32": "torch.tensor(..., dtype=torch.float32)",
        "lab.maximum(": "torch.clamp_min(",
        "the functions of lab": "the functions of torch",
        "call float() or numpy() only": "call item() or numpy() only",
        "Call tape.gradient(target, source) inside the recording": "Call target.backward() inside the block",
        "No tape recorded this program.": "No backward pass was recorded.",
        "Compute the target inside `with lab.GradientTape() as tape:` and call tape.gradient(target, source).":
        "Call backward() of the target inside the block.",
    },
    "jax": {
        "lab.nn.": "jax.nn.",
        "lab.math.": "jnp.",
        "lab.sigmoid": "jax.nn.sigmoid",
        "lab.reduce_max": "jnp.max",
        "lab.reduce_min": "jnp.min",
        "lab.custom_gradient": "jax.custom_vjp",
        "lab.cast back": "astype back",
        "the functions of lab": "the functions of jax.numpy",
        "Call tape.gradient(target, source) inside the recording": "Record the function whose value the target is",
    },
}  # fmt: skip
MODULE = {"torch": "torch", "jax": "jnp"}
"""What stands in place of ``lab`` before any other function."""


def words_of(framework: str, cause: str) -> tuple[str, str]:
    """Return the two sentences for a cause, in a framework's words where it has its own.

    Examples
    --------
    >>> words_of("torch", "not_watched")[1].partition(",")[0]
    'Make it with requires_grad=True'
    >>> words_of("", "not_watched") == OURS["not_watched"]
    True
    """
    own = WORDS.get(framework, {}).get(cause)
    return own if own is not None else OURS[cause]


def in_dialect(framework: str, text: str) -> str:
    """Return a sentence or a line of code with the framework's functions in place of ours.

    Examples
    --------
    >>> in_dialect("torch", "safe = lab.where(x > 0.0, x, 1.0)"), in_dialect("jax", "Use lab.nn.softmax.")
    ('safe = torch.where(x > 0.0, x, 1.0)', 'Use jax.nn.softmax.')
    """
    if framework not in NAMES:
        return text
    for ours, theirs in NAMES[framework].items():
        text = text.replace(ours, theirs)
    text = re.sub(r"\blab\.(?:Variable|constant)\(([^)]*)\)", rf"{MODULE[framework]}.asarray(\1)", text)
    return re.sub(r"\blab\.(?=\w)", f"{MODULE[framework]}.", text)


def translated(found: Any, framework: str) -> Any:
    """Return an explanation or a finding with its sentences in a framework's dialect."""
    if framework not in NAMES or found is None:
        return found
    changed: dict[str, Any] = {}
    for field in ("what", "fix", "title"):
        value = getattr(found, field, None)
        if isinstance(value, str):
            changed[field] = in_dialect(framework, value)
    for field in ("also", "code", "rewrite"):
        value = getattr(found, field, None)
        if isinstance(value, tuple):
            changed[field] = tuple([in_dialect(framework, item) for item in value])
    return replace(found, **changed)
