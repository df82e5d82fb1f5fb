import * as Flags from '@oclif/core/flags';

/** Flags of every command that works with codecs or sources. */
export const pluginFlags = {
  plugin: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'PATH-OR-PACKAGE',
    summary:
      'Load a plugin: a module or folder by its path (./my-codec), or an installed package. Repeatable.',
  }),
  config: Flags.string({
    helpValue: 'FILE',
    summary:
      "List of plugins to load; wirebound.config.json in the user's configuration folder unless given.",
  }),
};
