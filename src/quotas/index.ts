export { Quotas, type QuotasOptions } from './quotas.ts'
