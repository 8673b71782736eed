import type { ContainerOptions, Plain, Template } from '../types.ts'

/** The options with what they leave out. Throws TypeError on a field that the template does not have. */
export function settle(options: ContainerOptions): Required<ContainerOptions> {
  return {
    instances: 1,
    containerId: 'GTM-TEST123',
    environment: 'Live',
    tagId: 1,
    tagMetadata: {},
    timeoutScale: 1,
    promiseTimeout: Number.POSITIVE_INFINITY,
    random: Math.random,
    ...options,
    fields: withDefaults(options.template, options.fields),
  }
}

/** Parameters that only frame or explain others and have no value in `data`. */
const WITHOUT_VALUE = ['GROUP', 'LABEL']

function withDefaults(template: Template, fields: Readonly<Record<string, Plain>>): Record<string, Plain> {
  const parameters = template.parameters.filter(({ type }) => !WITHOUT_VALUE.includes(type))
  const unknown = Object.keys(fields).find((name) => parameters.every((parameter) => parameter.name !== name))
  if (unknown !== undefined) throw new TypeError(`fields: the template has no parameter "${unknown}".`)
  const defaults = parameters.flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [[name, defaultValue] as const],
  )
  return { ...Object.fromEntries(defaults), ...fields }
}
