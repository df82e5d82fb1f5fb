/** One promise of a contract as a test: any test runner can take `title` and await `run`, which rejects when it is broken. */
export interface ContractCase {
  title: string;
  run(): Promise<void>;
}
