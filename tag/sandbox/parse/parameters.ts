import type { Finding, Parameter, Plain, Section } from '../types.ts'
import { isList, isObject, lineOf } from './json.ts'

type Path = readonly (string | number)[]

/** The fields of ___TEMPLATE_PARAMETERS___, those inside groups and radio items too: in `data` they are all flat. */
export function readParameters(section: Section, value: Plain, findings: Finding[]): Parameter[] {
  if (!isList(value)) {
    findings.push({
      line: lineOf(section, []),
      rule: 'parameters',
      message: '___TEMPLATE_PARAMETERS___ must be a list.',
    })
    return []
  }
  return readList(section, value, [], findings)
}

function readList(section: Section, list: readonly Plain[], path: Path, findings: Finding[]): Parameter[] {
  return list.flatMap((source, index) => {
    const here = [...path, index]
    const line = lineOf(section, here)
    if (!isObject(source) || typeof source.type !== 'string' || typeof source.name !== 'string') {
      findings.push({ line, rule: 'parameters', message: 'A parameter needs a type and a name.' })
      return []
    }
    const { name, type, defaultValue } = source
    return [{ name, type, line, defaultValue, source }, ...inside(section, source, here, findings)]
  })
}

function inside(
  section: Section,
  source: Readonly<Record<string, Plain>>,
  path: Path,
  findings: Finding[],
): Parameter[] {
  const own = isList(source.subParams) ? readList(section, source.subParams, [...path, 'subParams'], findings) : []
  const items = isList(source.radioItems) ? source.radioItems : []
  return [
    ...own,
    ...items.flatMap((item, index) =>
      isObject(item) && isList(item.subParams)
        ? readList(section, item.subParams, [...path, 'radioItems', index, 'subParams'], findings)
        : [],
    ),
  ]
}
