export { type IngestConfig, ingestConfig } from './config.ts';
export { createIngest, type IngestDeps, type IngestService } from './ingest.service.ts';
