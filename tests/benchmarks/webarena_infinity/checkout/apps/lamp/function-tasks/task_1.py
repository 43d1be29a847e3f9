import requests


def verify(server_url: str) -> tuple[bool, str]:
    reply = requests.get(f"{server_url}/api/state")
    if reply.status_code != 200:
        return False, f"HTTP {reply.status_code}"
    state = reply.json()
    return state["colour"] == "blue", f"the lamp is {state}"
