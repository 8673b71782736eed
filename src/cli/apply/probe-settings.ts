import type { ErrorDetail } from '../../lib/index.ts'
import {
  configFaults,
  type JsonObject,
  mergedConfig,
  PROBE_TYPES,
  registryOf,
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

/**
 * The faults of the given settings, with paths such as `/config/window_minutes`.
 *
 * @param isNew whether missing settings are faults; an existing probe may have them already
 */
export function settingFaults(typeName: string, config: JsonObject, isNew: boolean): readonly ErrorDetail[] {
  const type = TYPES.get(typeName)
  if (type === undefined) return []
  const faults = configFaults(type, mergedConfig({}, config))
  return isNew ? faults : faults.filter(({ path }) => (path.split('/')[2] ?? '') in config)
}
