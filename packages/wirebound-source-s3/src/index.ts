import { definePlugin } from 'wirebound';
import { createS3Source } from './s3-source.js';

export default definePlugin({ name: 'wirebound-source-s3', sources: [createS3Source()] });
