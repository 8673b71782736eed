export { Digests, type DigestsOptions } from './digests.ts'
