import { definePlugin } from '../../core/plugin/plugin.js';
import { createMmapProvider } from './mmap-provider.js';

/** Lends mapped pages of a regular file to the kernel: one copy in memory, however many clients. */
export default definePlugin({ name: 'mmap', sources: [createMmapProvider()] });
