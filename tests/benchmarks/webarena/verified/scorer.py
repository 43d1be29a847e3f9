"""Run by the interpreter that has webarena-verified: scores jobs from its input, one per line."""

import json
import logging
import sys

from webarena_verified.api import WebArenaVerified
from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
from webarena_verified.types.task import WebArenaSite

logging.disable(logging.CRITICAL)
sites = {
    WebArenaSite(site): EnvironmentConfig(urls=addresses)
    for site, addresses in json.loads(sys.argv[1]).items()
}
scorer = WebArenaVerified(config=WebArenaVerifiedConfig(environments=sites))
for line in sys.stdin:
    job = json.loads(line)
    scored = scorer.evaluate_task(
        task_id=job["task"], agent_response=job["answer"], network_trace=job["entries"]
    )
    sys.stdout.write(json.dumps([one.score for one in scored.evaluators_results]) + "\n")
