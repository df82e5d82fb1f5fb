/** One promise of a contract as a test: any test runner can take `title` and await `run`, which rejects when it is broken. */
export interface ContractCase {
  readonly title: string;
  /** Where it is broken the other cases would only take long, or fail for the same reason. */
  readonly fatal?: boolean;
  run(): Promise<void>;
}
