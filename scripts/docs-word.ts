/** `npm run docs:word`: makes docs/WireBound_Writeup.docx from docs/writeup.md, with its charts in it. */
import { readFile, writeFile } from 'node:fs/promises';
import { Packer } from 'docx';
import { lexer } from 'marked';
import { makeDocument } from './word/make-document.js';

const DOCS = new URL('../docs/', import.meta.url);

const markdown = await readFile(new URL('writeup.md', DOCS), 'utf8');
const document = makeDocument(lexer(markdown), DOCS);
await writeFile(new URL('WireBound_Writeup.docx', DOCS), await Packer.toBuffer(document));
console.log('written: docs/WireBound_Writeup.docx');
