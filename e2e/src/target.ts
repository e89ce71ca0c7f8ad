/** A running Tollkeeper, however it is deployed: the facts that black-box suites need of it. */
export interface Target {
  /** Where the gateway answers, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  readonly owner: { email: string; password: string };
  /** Slug of a workspace that the owner owns and nobody else writes to. */
  readonly workspace: string;
  /** A `developer` key of that workspace. */
  readonly apiKey: string;
  /** Every log line of all of its processes so far. */
  logs(): string;
}

/** The target of a suite: it is known only once `beforeAll` has run. */
export type TargetOf = () => Target;
