import { definePlugin } from 'wirebound';
import { createHttpSource } from './http-source.js';

export default definePlugin({ name: 'wirebound-source-http', sources: [createHttpSource()] });
