// Runs oclif's generators (`manifest`, `readme`) without its look for updates, which would ask the registry.
process.env.OCLIF_SKIP_NEW_VERSION_CHECK = 'true';
await import('oclif/bin/run.js');
