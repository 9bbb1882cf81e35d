"""Wrong ideas about threads, blocks and what a GPU is good for: lesson 15."""

from __future__ import annotations

from autodiff_lab.lessons.codes.model import Misconception

CODES: dict[str, Misconception] = {
    "NO_GUARD": Misconception(
        "there are as many threads as elements",
        "A thread touched an element that does not exist: blocks are always full, and the last one reaches beyond the "
        "end.",
        "What must a thread ask before it touches anything?",
        (15,),
    ),
    "OWN_BLOCK": Misconception(
        "a thread's number in its block is its number",
        "Every block did the work of the first one, and the rest was left undone.",
        "Two threads of different blocks have the same threadIdx. Which other number tells them apart?",
        (15,),
    ),
    "FLOORED": Misconception(
        "n divided by the size of a block is the number of blocks",
        "Too few: what is left over after the last whole block has no thread.",
        "Take 20 elements and blocks of 8. What does // do with the last 4?",
        (15,),
    ),
    "ONE_TOO_MANY": Misconception(
        "one more block does no harm",
        "Too many where the last block is full: a whole block is started with nothing to do.",
        "Take 16 elements and blocks of 8, and then 17.",
        (15,),
    ),
    "STRIDED": Misconception(
        "it does not matter which thread takes which element",
        "The results are right, but memory delivers too much: neighbouring threads touch elements far apart.",
        "Look at the lines of the map: where neighbours touch neighbours, the lines do not cross.",
        (15,),
    ),
    "NO_BARRIER": Misconception(
        "threads wait for each other by themselves",
        "A thread read what another had not yet written.",
        "Put cuda.syncthreads() between writing a shared array and reading what another thread wrote there.",
        (15,),
    ),
    "RACE": Misconception(
        "threads take turns at one element",
        "Two threads meet at one element with no barrier between them, and one of them writes. Here they take turns; "
        "on a GPU one of the two can be lost.",
        "Let each element have one thread that writes it, and put a barrier before another thread reads it.",
        (15,),
    ),
    "SOME_RETURN": Misconception(
        "a thread without work may leave before a barrier",
        "Some threads of a block wait at a barrier that the others never reach, or wait at a different one.",
        "Put the condition around the work and the barrier outside it.",
        (15,),
    ),
    "GPU_ALWAYS_WINS": Misconception(
        "a GPU is always faster",
        "For few elements it is not: the launch costs the same, however little there is to do.",
        "Write down both times for n elements, and find the first n at which the GPU takes no longer.",
        (15,),
    ),
}
