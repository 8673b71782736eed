import { type Static, Type } from 'typebox'
import { storable } from '../lib/index.ts'
import type { VersionSeen } from './delta.ts'

const TEXT_MAX = 64

/** What the container says of itself. */
export const ContainerInfo = Type.Object(
  {
    version: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
    environment: Type.Optional(Type.String({ maxLength: TEXT_MAX })),
  },
  { description: 'Version and environment of the container that sends; empty or left out: not known' },
)
export type ContainerInfo = Static<typeof ContainerInfo>

/** The version that a payload was sent by; undefined where it does not say. @param now time of acceptance, epoch ms */
export function versionOf(container: ContainerInfo | undefined, now: number): VersionSeen | undefined {
  const { version = '', environment = '' } = container ?? {}
  if (version === '') return undefined
  return { version: storable(version), environment: storable(environment), firstSeenAt: now, lastSeenAt: now }
}
