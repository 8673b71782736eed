export { INGEST_ERRORS, type IngestError } from './answers.ts'
export { INGEST_PATHS, ingestFirst, ingestRoutes } from './routes.ts'
export { Ingest, type IngestOptions, type IngestStatus } from './service.ts'
