/** The input of the generator. */
export interface NewService {
  name: string;
  /** A sentence without its period. */
  purpose: string;
  http: boolean;
  grpc: boolean;
  mongodb: boolean;
  /** Services that it calls over gRPC. */
  calls: readonly string[];
}

/** `enforcement` as in names of types and functions: `Enforcement`. */
export function typeName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The lines whose condition holds. */
export function lines(...all: (string | false)[]): string {
  return all.filter((line) => line !== false).join('\n');
}
