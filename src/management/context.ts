import type { FastifyRequest } from 'fastify'
import type { Clock } from '../lib/index.ts'
import type { Store } from '../store/index.ts'
import type { Plan } from './plans.ts'

export interface ManagementOptions {
  store: Store
  clock: Clock
  /** Plan of a client that is created without one. */
  defaultPlan: Plan
}

/** What every verb that changes something works with. */
export interface Context {
  store: Store
  clock: Clock
  /** Who makes the change, as the audit log names them. */
  actor: string
}

export const contextOf = ({ store, clock }: ManagementOptions, request: FastifyRequest): Context => ({
  store,
  clock,
  actor: request.access.actor,
})
