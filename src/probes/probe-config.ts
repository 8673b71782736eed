import { checkerOf } from '../http/index.ts'
import { AppError, type ErrorDetail } from '../lib/index.ts'
import type { SiteRow } from '../store/index.ts'
import type { JsonObject, NeededFields, ProbeType } from './probe-type.ts'

const checkers = new WeakMap<ProbeType, (config: unknown) => ErrorDetail[]>()

/** The given settings with the type's defaults for the others. */
export function withDefaults({ config }: ProbeType, given: JsonObject): JsonObject {
  const defaults = Object.entries(config.properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  )
  return { ...Object.fromEntries(defaults), ...given }
}

/** Everything wrong with a probe's settings, with paths as `/config/window_minutes`. Empty when they can be used. */
export function configFaults(type: ProbeType, given: JsonObject): ErrorDetail[] {
  let check = checkers.get(type)
  if (check === undefined) {
    check = checkerOf(type.config)
    checkers.set(type, check)
  }
  const config = withDefaults(type, given)
  const faults = check(config)
  const all = faults.length > 0 ? faults : (type.checkConfig?.(config) ?? [])
  return all.map(({ path, message }) => ({ path: `/config${path}`, message }))
}

/** @throws AppError `invalid_request` naming every setting that is wrong. */
export function requireConfig(type: ProbeType, given: JsonObject): void {
  const faults = configFaults(type, given)
  if (faults.length === 0) return
  throw new AppError('invalid_request', faults.map(({ path, message }) => `${path} ${message}`).join('; '), faults)
}

/** Changes the named settings; null puts one back to its default. */
export function mergedConfig(before: JsonObject, patch: JsonObject): JsonObject {
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged)
}

/** Names of the type's settings that are never shown. */
export const secretNames = ({ config }: ProbeType): string[] =>
  Object.entries(config.properties).flatMap(([name, schema]) =>
    'writeOnly' in schema && schema.writeOnly === true ? [name] : [],
  )

interface ShownConfig {
  /** All settings with their defaults, but no secret. */
  config: JsonObject
  /** Names of the secrets that are set. */
  secretsSet: string[]
}

export function shownConfig(type: ProbeType, given: JsonObject): ShownConfig {
  const secrets = secretNames(type)
  const config = Object.entries(withDefaults(type, given)).filter(([name]) => !secrets.includes(name))
  return { config: Object.fromEntries(config), secretsSet: secrets.filter((name) => name in given) }
}

/** Whether the site has what is needed. */
export const isMet = (needs: NeededFields, site: SiteRow): boolean =>
  needs.length === 0 || needs.some((fields) => fields.every((field) => site[field] !== null))

/** The alternatives as people read them: `tag_server_url`, or `warehouse_project and warehouse_dataset`. */
export const needsInWords = (needs: NeededFields): string => needs.map((fields) => fields.join(' and ')).join(', or ')

/** Whether `auto_probes` creates a probe of this type for the site. */
export function isAutomatic({ needs, autoNeeds = needs }: ProbeType, site: SiteRow): boolean {
  return autoNeeds !== null && isMet(needs, site) && isMet(autoNeeds, site)
}
