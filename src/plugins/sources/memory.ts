import { definePlugin } from '../../core/plugin/plugin.js';
import { createMemoryProvider } from './memory-provider.js';

/** Holds the whole content in memory: standard input, or a file that should not be read again. */
export default definePlugin({ name: 'memory', sources: [createMemoryProvider()] });
