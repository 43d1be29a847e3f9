CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE observations (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE episodes (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL, arm TEXT NOT NULL, repeat INTEGER NOT NULL, round INTEGER NOT NULL,
    phase TEXT NOT NULL, idx INTEGER NOT NULL, world TEXT NOT NULL, seeded_from TEXT NOT NULL,
    task TEXT NOT NULL, seed INTEGER NOT NULL, parent TEXT NOT NULL, attempt INTEGER NOT NULL,
    goal TEXT NOT NULL, ending TEXT, error TEXT NOT NULL,
    n_steps INTEGER NOT NULL, started REAL NOT NULL, seconds REAL NOT NULL,
    last BLOB REFERENCES observations (hash),
    record BLOB NOT NULL
);
CREATE INDEX episodes_by_place ON episodes (run, arm, repeat, round, phase, idx);
CREATE TABLE steps (
    episode TEXT NOT NULL REFERENCES episodes (id),
    position INTEGER NOT NULL,
    observation BLOB NOT NULL REFERENCES observations (hash),
    decision BLOB NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (episode, position)
);
CREATE TABLE scores (
    episode TEXT NOT NULL REFERENCES episodes (id),
    name TEXT NOT NULL,
    evaluator TEXT NOT NULL,
    value REAL,
    reason TEXT NOT NULL,
    PRIMARY KEY (episode, name, evaluator)
);
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL);

-- What models were sent and what they replied.
CREATE TABLE texts (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE exchanges (
    episode TEXT NOT NULL REFERENCES episodes (id),
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (episode, position, number)
);
