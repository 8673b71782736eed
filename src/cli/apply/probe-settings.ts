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

/** What a probe of the type is called when no one says so. */
export const titleOf = (typeName: string): string => TYPES.get(typeName)?.title ?? typeName

export function secretsOf(typeName: string): readonly string[] {
  const type = TYPES.get(typeName)
  return type === undefined ? [] : secretNames(type)
}

/** The secrets that go to an address in one of these settings. */
export function secretsSentTo(typeName: string, settings: readonly string[]): readonly string[] {
  const sentTo = Object.entries(TYPES.get(typeName)?.secretsSentTo ?? {})
  return sentTo.flatMap(([secret, address]) => (settings.includes(address) ? [secret] : []))
}

/** The default of a setting; undefined where there is none. */
export function usualSetting(typeName: string, name: string): unknown {
  const schema: object = TYPES.get(typeName)?.config.properties[name] ?? {}
  return 'default' in schema ? schema.default : undefined
}

export const usualInterval = (typeName: string): number | null => TYPES.get(typeName)?.defaultIntervalSeconds ?? null

/**
 * What is wrong with the settings that are given, with paths as `/config/window_minutes`.
 *
 * @param isNew whether those that are missing count: of a probe that is there, they may be set
 */
export function settingFaults(typeName: string, config: JsonObject, isNew: boolean): readonly ErrorDetail[] {
  const type = TYPES.get(typeName)
  if (type === undefined) return []
  const faults = configFaults(type, mergedConfig({}, config))
  return isNew ? faults : faults.filter(({ path }) => (path.split('/')[2] ?? '') in config)
}
