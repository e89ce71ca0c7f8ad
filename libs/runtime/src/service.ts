import { type Component, createLifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Tracer } from './tracing/span.ts';

/** The dependencies of every service. Servers and clients take it as it is. */
export interface ServiceDeps<Config> {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  tracer?: Tracer | undefined;
}

export interface ServesHttp {
  /** The origin on this machine, valid once started. */
  readonly httpUrl: string;
}

export interface ServesGrpc {
  /** `host:port` for clients, valid once started. */
  readonly grpcAddress: string;
}

interface ServiceParts {
  name: string;
  logger: Logger;
  /** All parts except the servers, in the order of their start. */
  parts: readonly Component[];
}

type HttpServerPart = Component & { readonly url: string };
type GrpcServerPart = Component & { readonly address: string };

/**
 * A service as one component with the addresses of its servers. The servers start last, gRPC before HTTP, and stop
 * first, so that all they need is there while they answer.
 */
export function assembleService(
  service: ServiceParts & { grpc: GrpcServerPart; http: HttpServerPart },
): Component & ServesGrpc & ServesHttp;
export function assembleService(service: ServiceParts & { http: HttpServerPart }): Component & ServesHttp;
export function assembleService(service: ServiceParts & { grpc: GrpcServerPart }): Component & ServesGrpc;
export function assembleService({
  name,
  logger,
  parts,
  grpc,
  http,
}: ServiceParts & { grpc?: GrpcServerPart; http?: HttpServerPart }): Component & Partial<ServesGrpc & ServesHttp> {
  const servers = [grpc, http].filter((server) => server !== undefined);
  return {
    ...createLifecycle([...parts, ...servers], logger, { name }),
    get grpcAddress() {
      return grpc?.address;
    },
    get httpUrl() {
      return http?.url;
    },
  };
}
