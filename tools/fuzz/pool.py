"""Workers that run cases, each killed when a call takes too long and replaced when it dies."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from .case import build
from .judge import Finding
from .run import Outcome, run

# Time limit of a call of the library, and of making a case and of judging the answer.
MAX_CALL_SECONDS, MAX_SECONDS = 8.0, 60.0
CONTEXT = multiprocessing.get_context("spawn")


def work(connection: Connection) -> None:
    """Run the cases that arrive; None ends it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while (number := connection.recv()) is not None:
        try:
            outcome = run(number, lambda: connection.send("calling"), lambda: connection.send("judging"))
        except BaseException as error:
            outcome = Outcome(number, "", "crash", findings=[Finding("harness", f"{type(error).__name__}: {error}")])
        connection.send(replace(outcome, answer=None))


@dataclass
class Worker:
    """A process, the case that it has, and the time when it is too late."""

    process: Any
    connection: Connection
    number: int | None = None
    deadline: float = 0.0
    calling: bool = False

    @classmethod
    def start(cls) -> Worker:
        """A new process."""
        here, there = CONTEXT.Pipe()
        process = CONTEXT.Process(target=work, args=(there,), daemon=True)
        process.start()
        there.close()
        return cls(process, here)

    def give(self, number: int) -> None:
        """Have it run a case."""
        self.number, self.calling, self.deadline = number, False, time.monotonic() + MAX_SECONDS
        self.connection.send(number)

    def receive(self) -> Outcome | None:
        """The outcome, if that is what arrived; the outcome of a crash if the process died."""
        try:
            message = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return self.failure("crash", f"the process ended with exit code {self.process.exitcode}")
        if isinstance(message, Outcome):
            return message
        self.calling = message == "calling"
        self.deadline = time.monotonic() + (MAX_CALL_SECONDS if self.calling else MAX_SECONDS)
        return None

    def failure(self, kind: str, text: str) -> Outcome:
        """The outcome of a case that its process did not survive."""
        number = self.number or 0
        self.stop()
        case = build(number)
        finding = Finding(kind, text)
        return Outcome(number, case.problem.family, kind, case.describe(), [finding], case.counts)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def late(self) -> Outcome | None:
        """The outcome of a hang, if it is one."""
        if self.number is None or time.monotonic() < self.deadline:
            return None
        if not self.calling:
            return self.failure("harness", "making or judging the case takes too long")
        return self.failure("hang", f"more than {MAX_CALL_SECONDS:g} s")


def _advance(worker: Worker, ready: bool) -> tuple[Worker, Outcome | None]:
    """The worker (or its successor), and the outcome of its case if it has ended."""
    outcome = worker.receive() if ready else worker.late()
    if outcome is None:
        return worker, None
    if worker.connection.closed:
        return Worker.start(), outcome
    worker.number = None
    return worker, outcome


def campaign(numbers: Iterator[int], jobs: int, seconds: float | None) -> Iterator[Outcome]:
    """Run cases until there are no more, or until the time is up."""
    end = time.monotonic() + (seconds if seconds is not None else float("inf"))
    workers = [Worker.start() for _ in range(jobs)]
    try:
        while True:
            for worker in workers:
                if worker.number is None and time.monotonic() < end:
                    number = next(numbers, None)
                    if number is not None:
                        worker.give(number)
            busy = [worker for worker in workers if worker.number is not None]
            if not busy:
                return
            ready = wait([worker.connection for worker in busy], timeout=0.2)
            for i, worker in enumerate(workers):
                if worker.number is not None:
                    workers[i], outcome = _advance(worker, worker.connection in ready)
                    if outcome is not None:
                        yield outcome
    finally:
        for worker in workers:
            worker.stop()
