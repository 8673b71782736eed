import {
  isAutomatic,
  isMet,
  type JsonObject,
  mergedConfig,
  needsInWords,
  PROBE_TYPES,
  type ProbeRecord,
  registryOf,
  requireConfig,
  requireInterval,
  requireSameHosts,
  secretNames,
} from '../../probes/index.ts'

const TYPES = registryOf(PROBE_TYPES)

/** The default name of a probe of this type. */
export const titleOf = (typeName: string): string => TYPES.get(typeName)?.title ?? typeName

export function secretsOf(typeName: string): readonly string[] {
  const type = TYPES.get(typeName)
  return type === undefined ? [] : secretNames(type)
}

/** The secrets that are sent to an address in one of these settings. */
export function secretsSentTo(typeName: string, settings: readonly string[]): readonly string[] {
  const sentTo = Object.entries(TYPES.get(typeName)?.secretsSentTo ?? {})
  return sentTo.flatMap(([secret, address]) => (settings.includes(address) ? [secret] : []))
}

/** The default of a setting; undefined when it has none. */
export function usualSetting(typeName: string, name: string): unknown {
  const schema: object = TYPES.get(typeName)?.config.properties[name] ?? {}
  return 'default' in schema ? schema.default : undefined
}

export const usualInterval = (typeName: string): number | null => TYPES.get(typeName)?.defaultIntervalSeconds ?? null

export type SiteFields = Parameters<typeof isMet>[1]

/** The fields of the site that the type needs and that are not set, in words; null when it needs none. */
export function unmetNeeds(typeName: string, site: SiteFields): string | null {
  const { needs } = TYPES.get(typeName) ?? { needs: [] }
  return isMet(needs, site) ? null : needsInWords(needs)
}

/** The names of the probes that `auto_probes` adds to a new site. */
export const automaticProbes = (site: SiteFields): string[] =>
  PROBE_TYPES.filter((type) => isAutomatic(type, site)).map(({ title }) => title)

/** @throws AppError when it is too short for the type; its default is not */
export function checkInterval(typeName: string, seconds: unknown): void {
  const type = TYPES.get(typeName)
  if (type !== undefined && typeof seconds === 'number') requireInterval(type, seconds)
}

/** Stands for a secret that the service does not show; every type accepts it. */
const ANY_SECRET = 'x'.repeat(100)

/** The settings of a probe in the service, with values that stand for its secrets. */
export const givenSettings = ({ config, secrets_set }: Pick<ProbeRecord, 'config' | 'secrets_set'>): JsonObject => ({
  ...config,
  ...Object.fromEntries(secrets_set.map((name) => [name, ANY_SECRET])),
})

/**
 * @param before the settings that the probe has
 * @param patch those that change; null resets one to its default
 * @throws AppError naming the settings that the service would refuse, with paths such as `/config/window_minutes`
 */
export function checkSettings(typeName: string, before: JsonObject, patch: JsonObject): void {
  const type = TYPES.get(typeName)
  if (type === undefined) return
  const after = mergedConfig(before, patch)
  requireConfig(type, after)
  requireSameHosts(type, before, after, patch)
}
