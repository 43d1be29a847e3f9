"""The learner of a pair: a small model in front of whichever policy improves."""

from loop.learners.state import ArmState, Learner, Purpose
from loop.session import Session
from loop.student import note_student
from webagent.policy.policy import Policy
from webagent.policy.student import Student, StudentPolicy
from webagent.records import STUDENT


class StudentLearner:
    """Has the large policy learn as it does, and the student from every episode and its verdict.

    Within a round the student stays as it is, so that what is done does not depend on which
    episodes have ended, and a resumed run goes on as it would have.
    """

    def __init__(self, session: Session, large: Learner) -> None:
        self._session, self._large = session, large
        self.student: Student = session.config.student.open()

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Have both learn, or load what that gave."""
        await self._large.learn(state, arm, round)
        session, choice = self._session, self._session.config.student
        note_student(session.store, self.student)
        if round and session.arm.learns_from != "experience":
            return
        key = (arm, session.repeat, round, STUDENT)
        if not session.folder.has_weights(*key):
            for trajectory in (*state.demonstrations, *state.experience):
                self.student.learn(trajectory, state.success.get(trajectory.id))
            session.folder.save(self.student, *key)
        folder = session.folder.weights(*key)
        self.student = Student.load(folder, choice.student_confidence)

    def policy(self, purpose: Purpose) -> Policy:
        """Return the pair where real pages are acted on, else the large policy."""
        large = self._large.policy(purpose)
        return StudentPolicy(self.student, large) if purpose in ("collect", "measure") else large

    async def close(self) -> None:
        """Give back what the large policy holds."""
        await self._large.close()
