/** A plugin that the local user wants, and who says so. */
export interface PluginRequest {
  /** What {@link resolvePlugin} takes. */
  readonly specifier: string;
  /** For people: `--plugin`, `WIREBOUND_PLUGINS`, the path of a configuration file. */
  readonly askedBy: string;
  /** Where relative paths start. */
  readonly folder: string;
  /** Where packages are looked for that are not installed beside WireBound. */
  readonly packagesFrom?: string;
  /** Asked for by name, on this command line: then a failure ends the command. */
  readonly required: boolean;
}
