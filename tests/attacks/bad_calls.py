"""Bad calls of everything public, made by introspection: each must be refused by name, at the call, or be taken for a reason.

    python -m tests.attacks.bad_calls                          # everything
    python -m tests.attacks.bad_calls Shooting planning        # what begins so
    python -m tests.attacks.bad_calls --every 20 --all         # one of 20 calls; answers that are right are printed too

`public_api` lists what is public, `good_calls` has a good call of each, `zoo` the wrong values, `accepted` the reasons why some
of them are right, `answers` judges. Calls run in worker processes with a time limit, in an empty folder. The exit status is 1 if
anything is wrong.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
from collections import Counter

from . import answers, good_calls

LIMIT = 60.0  # seconds for one call; the first of a process may compile
MEMORY = 8 * 2**30  # bytes


def serve(pipe, folder):
    """A worker: answers questions (name, argument, label) until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for stream in (0, 1, 2):  # (bars of progress, and what functions print)
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    sys.path.insert(0, os.getcwd())
    os.chdir(folder)
    good_calls.load()
    for question in iter(pipe.recv, None):
        try:
            pipe.send(answers.tasks(question) if isinstance(question, str) else answers.ask(*question))
        except BaseException as error:
            pipe.send(f"the good call does not work: {type(error).__name__}: {error}")


class Worker:
    """A process that is asked, and replaced when it does not answer."""

    def __init__(self):
        self.process = None
        self.folder = tempfile.TemporaryDirectory()

    def ask(self, question):
        """The answer; "hang" or "crash" where there is none."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(theirs, self.folder.name), daemon=True)
            self.process.start()
            theirs.close()
        self.pipe.send(question)
        try:
            if self.pipe.poll(LIMIT):
                return self.pipe.recv()
            failed = "hang"
        except EOFError:
            failed = "crash"
        self.stop()
        return failed

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def attack(names, every=1):
    """The answers to one of ``every`` bad calls of each good call named."""
    worker = Worker()
    for name in names:
        questions = worker.ask(name)
        if isinstance(questions, str):
            yield answers.Answer(name, "", "", "bad good call", questions)
            continue
        for argument, label in questions[::every]:
            answer = worker.ask((name, argument, label))
            if isinstance(answer, str):
                answer = answers.Answer(name, argument, label, answer)
            yield answer
    worker.stop()


def main():
    """Prints the answers that are wrong, and how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of names")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="print answers that are right too")
    options = parser.parse_args()
    good_calls.load()

    def asked_for(name):
        return not options.names or name.startswith(tuple(options.names))

    names = list(filter(asked_for, sorted(good_calls.GOOD)))
    counts: Counter[str] = Counter()
    for answer in attack(names, options.every):
        counts[answer.kind] += 1
        if options.all or answer.kind not in answers.WELL:
            print(answer, flush=True)
    lacking = [f"no good call: {name}" for name in answers.missing() if asked_for(name)]
    lacking += [f"not public: {name}" for name in answers.unknown() if asked_for(name)]
    lacking += [f"public constructor: {text}" for text in answers.refused_constructors() if asked_for(text)]
    print("\n".join(lacking))
    kinds = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
    print(f"{sum(counts.values())} bad calls of {len(names)} good ones: {kinds}")
    sys.exit(bool(lacking) or any(kind not in answers.WELL for kind in counts))


if __name__ == "__main__":
    main()
