# An agent without a window: an ordinary user, Chromium's sandbox on. How to use it: docs/docker.md
# Debian's mirrors keep no earlier versions of its packages, so there is nothing to pin.
FROM debian:bookworm-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN python3 -m venv /opt/webagent \
    && /opt/webagent/bin/pip install --no-cache-dir -c constraints.txt .

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
       python3 chromium-headless-shell fonts-liberation ca-certificates libatomic1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 agent \
    && install -d -o agent -g agent /home/agent/tasks /home/agent/tasks/runs
COPY --from=build /opt/webagent /opt/webagent
ENV PATH=/opt/webagent/bin:$PATH
USER 1000
WORKDIR /home/agent/tasks
VOLUME /home/agent/tasks/runs
ENTRYPOINT ["webagent"]
CMD ["--help"]
