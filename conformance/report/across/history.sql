-- The history of runs: one row a run, one a requirement, one for each verdict of each run, and the folder of its reports.
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    url TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT NOT NULL,
    command TEXT NOT NULL,
    impact TEXT NOT NULL,
    strict INTEGER NOT NULL,
    suite TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    headline TEXT NOT NULL,
    passed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    warned INTEGER NOT NULL,
    opened INTEGER NOT NULL,
    untested INTEGER NOT NULL,
    UNIQUE (target, started, command)
);
CREATE TABLE IF NOT EXISTS requirements (
    id TEXT PRIMARY KEY,
    level TEXT NOT NULL,
    statement TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    folder TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS verdicts (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    requirement TEXT NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (run, requirement)
) WITHOUT ROWID;
