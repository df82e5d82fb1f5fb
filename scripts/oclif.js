// Runs oclif's generators (`manifest`, `readme`): without its look for updates, which would ask the registry, and
// with the same line width everywhere.
process.env.OCLIF_SKIP_NEW_VERSION_CHECK = 'true';
process.env.COLUMNS = '120';
await import('oclif/bin/run.js');
