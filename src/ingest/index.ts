export { ingestFirst, ingestRoutes } from './routes.ts'
export { Ingest } from './service.ts'
