/** Shows the events of one run to a person or a program. */
export interface Report<Event> {
  onEvent(event: Event): void;
  /** Called twice a second, so that rates fall and lines come out while no event does. */
  tick(): void;
  /** Leaves the terminal as it was found. May be called twice. */
  close(): void;
}

/** How a report is asked for on the command line. */
export interface ReportOptions {
  readonly json: boolean;
  readonly quiet: boolean;
}
