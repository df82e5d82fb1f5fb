export { type CheckEvent, type CheckOptions, type CheckSummary, checkPluginAt } from './check-plugin.js';
export { codecContract } from './codec-contract.js';
export { type CodecFigures, measureCodec } from './codec-speed.js';
export type { CodecSubjectOptions } from './codec-subject.js';
export type { ContractCase } from './contract-case.js';
export { type CaseResult, type RunContractOptions, runContract } from './run-contract.js';
export { type MakeSink, type SinkUnderTest, sinkContract } from './sink-contract.js';
export { sourceContract } from './source-contract.js';
export type { MakeSource, SourceFixture, SourceUnderTest } from './source-under-test.js';
