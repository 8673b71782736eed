import { type Static, Type } from 'typebox'
import { storable } from '../lib/index.ts'
import type { ClientSeen, VersionSeen } from './seen.ts'

const TEXT_MAX = 64
/** Clients in one payload: containers have two or three, and a batch may hold events of several. */
export const CLIENTS_MAX = 10

/** What the container reports about itself. */
export const ContainerInfo = Type.Object(
  {
    version: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
    environment: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
    clients: Type.Optional(
      Type.Array(Type.String({ maxLength: TEXT_MAX }), {
        maxItems: CLIENTS_MAX,
        description: 'Names of the clients that claimed the events',
      }),
    ),
  },
  {
    title: 'Container',
    description: 'Version, environment and clients of the sending container; empty or left out: unknown',
  },
)
export type ContainerInfo = Static<typeof ContainerInfo>

/** The container version that sent a payload; undefined when the payload names none. @param now time of acceptance, epoch ms */
export function versionOf(container: ContainerInfo | undefined, now: number): VersionSeen | undefined {
  const { version = '', environment = '' } = container ?? {}
  if (version === '') return undefined
  return { version: storable(version), environment: storable(environment), firstSeenAt: now, lastSeenAt: now }
}

/** The clients that claimed the payload's events. @param now time of acceptance, epoch ms */
export function clientsOf(container: ContainerInfo | undefined, now: number): readonly ClientSeen[] {
  const names = container?.clients ?? []
  return names
    .filter((name) => name !== '')
    .map((name) => ({ name: storable(name), firstSeenAt: now, lastSeenAt: now }))
}
