/** What a key allows: an admin reads and changes everything, a viewer reads without secrets. */
export type Role = 'admin' | 'viewer'

/** Who makes a call. `open`: no key is set up, so whoever reaches the service manages it. `nobody`: a public route. */
export interface Access {
  role: Role | 'open' | 'nobody'
  /** As the audit log names them. */
  actor: string
}

export interface AccessSettings {
  adminToken: string | null
  viewerToken: string | null
  /** Whether only this machine can connect; without keys, calls by other host names are then refused. */
  listensOnLoopback: boolean
}

export const OPEN: Access = { role: 'open', actor: 'anonymous' }
export const NOBODY: Access = { role: 'nobody', actor: 'nobody' }
export const accessOf = (role: Role): Access => ({ role, actor: role })

/** Whether ingest keys, webhooks and e-mail addresses may be in the answer. */
export const seesSecrets = ({ role }: Access): boolean => role === 'admin' || role === 'open'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. */
    access: Access
  }
  interface FastifyContextConfig {
    /** A route under `/api` that needs no key. Every other one does. */
    access?: 'public'
  }
}
