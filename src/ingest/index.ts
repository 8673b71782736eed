export { INGEST_ERRORS, type IngestError } from './answers.ts'
export { BatchPayload, EventPayload, type Payload } from './payload.ts'
export { INGEST_PATHS, ingestRoutes } from './routes.ts'
export { Ingest, type IngestOptions, type IngestStatus } from './service.ts'
