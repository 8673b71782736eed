import type { Finding, Permission, Plain, Section } from '../types.ts'
import { isList, isObject, lineOf } from './json.ts'

const MARKER = '___SERVER_PERMISSIONS___'

/** The entries of ___SERVER_PERMISSIONS___; an entry that lacks its parts is a finding. */
export function readPermissions(section: Section, value: Plain, findings: Finding[]): Permission[] {
  if (!isList(value)) {
    findings.push({ line: lineOf(section, []), rule: 'permissions', message: `${MARKER} must be a list.` })
    return []
  }
  return value.flatMap((entry, index) => {
    const line = lineOf(section, [index])
    const instance = isObject(entry) ? entry.instance : undefined
    const key = isObject(instance) ? instance.key : undefined
    const publicId = isObject(key) ? key.publicId : undefined
    if (!isObject(instance) || !isObject(key) || typeof publicId !== 'string') {
      findings.push({ line, rule: 'permissions', message: 'A permission needs instance.key.publicId.' })
      return []
    }
    const complain = (message: string) =>
      findings.push({ line, rule: 'permissions', message: `${publicId}: ${message}` })
    if (key.versionId !== '1') complain('instance.key.versionId must be "1".')
    if (!isList(instance.param)) complain('instance.param must be a list.')
    const params = paramsOf(isList(instance.param) ? instance.param : [], complain)
    return [{ publicId, line: lineOf(section, [index, 'instance', 'key', 'publicId']), params }]
  })
}

function paramsOf(list: readonly Plain[], complain: (message: string) => void): Record<string, Plain> {
  const params: Record<string, Plain> = {}
  for (const entry of list) {
    const value = isObject(entry) ? plainValue(entry.value) : undefined
    if (!isObject(entry) || typeof entry.key !== 'string' || value === undefined) {
      complain('each param needs a key and a value of type 1 (string), 2 (list), 3 (map) or 8 (boolean).')
      continue
    }
    params[entry.key] = value
  }
  return params
}

/** The value behind the numbered types of the file; undefined if it fits none. */
function plainValue(value: Plain): Plain {
  if (!isObject(value)) return undefined
  if (value.type === 1) return typeof value.string === 'string' ? value.string : undefined
  if (value.type === 8) return typeof value.boolean === 'boolean' ? value.boolean : undefined
  if (value.type === 2 && isList(value.listItem)) return allKnown(value.listItem.map(plainValue))
  if (value.type === 3 && isList(value.mapKey) && isList(value.mapValue)) return mapOf(value.mapKey, value.mapValue)
  return undefined
}

function mapOf(keys: readonly Plain[], values: readonly Plain[]): Plain {
  if (keys.length !== values.length) return undefined
  const entries = keys.map((key, index): [Plain, Plain] => [plainValue(key), plainValue(values[index])])
  if (entries.some(([key, value]) => typeof key !== 'string' || value === undefined)) return undefined
  return Object.fromEntries(entries.map(([key, value]) => [String(key), value]))
}

const allKnown = (list: Plain[]): Plain => (list.includes(undefined) ? undefined : list)
