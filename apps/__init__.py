"""What people and programs touch: live runs, the viewer, recording, replay, servers, exports."""
