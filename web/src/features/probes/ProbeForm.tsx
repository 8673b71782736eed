import { Button, NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { useState } from 'react'
import { type ProbeRecord, type ProbeTypeRecord, probeQuery, useCreateProbe, useUpdateProbe } from '../../api/probes.ts'
import { type SiteRecord, useUpdateSite } from '../../api/sites.ts'
import { changedSince } from '../../lib/changed.ts'
import { useSaving } from '../../lib/form-faults.ts'
import { missingOf, TRACKING_FIELDS, type TrackingField } from '../../lib/site-fields.ts'
import { FormEnd } from '../../ui/FormEnd.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import classes from './form.module.css'
import { alertDelay, intervalOptions, THRESHOLDS, thresholdOptions } from './list.ts'
import { SchemaField } from './SchemaField.tsx'
import { configOf, type FieldValue, fieldsOf, initialConfig } from './schema-fields.ts'

interface Props {
  type: ProbeTypeRecord
  site: SiteRecord
  /** The probe to change; absent to create one. */
  probe?: ProbeRecord
  onSaved: (probe: ProbeRecord) => unknown
}

interface Values {
  name: string
  is_active: boolean
  interval_seconds: string
  timeout_ms: number | string
  failure_threshold: string
  recovery_threshold: string
  config: Record<string, FieldValue>
}

const bodyOf = (values: Values) => ({
  name: values.name,
  is_active: values.is_active,
  interval_seconds: Number(values.interval_seconds),
  timeout_ms: Number(values.timeout_ms),
  failure_threshold: Number(values.failure_threshold),
  recovery_threshold: Number(values.recovery_threshold),
})

/** The form of a probe's settings; those of its type come from the type's schema. */
export function ProbeForm({ type, site, probe, onSaved }: Props) {
  const fields = fieldsOf(type)
  const create = useCreateProbe()
  const update = useUpdateProbe(probe?.id ?? '')
  const [removed, setRemoved] = useState<readonly string[]>([])
  const queries = useQueryClient()
  const form = useForm<Values>({ initialValues: initialValues(type, probe) })
  const bodiesOf = (held: Values) => ({ body: bodyOf(held), config: configOf(fields, held.config, []) })
  const [opened] = useState(() => bodiesOf(initialValues(type, probe)))
  const { values } = form
  const names = [...Object.keys(values), ...fields.map(({ name }) => `config.${name}`)].filter(
    (name) => name !== 'config',
  )
  const lacks = missingOf(type.needs, site).length > 0

  const save = async () => {
    const body = bodyOf(values)
    const config = configOf(fields, values.config, removed)
    if (probe === undefined) {
      await onSaved(await create.mutateAsync({ site_id: site.id, probe_type: type.probe_type, ...body, config }))
      return
    }
    const found = await queries.fetchQuery({ ...probeQuery(probe.id), staleTime: 0 })
    const now = bodiesOf(initialValues(type, found))
    const saved = await update.mutateAsync({
      ...changedSince(body, opened.body, now.body),
      config: changedSince(config, opened.config, now.config, '/config') as typeof config,
    })
    await onSaved(saved)
  }

  const { formRef, onSubmit, isBusy, rest } = useSaving(form, save, () => names)
  return (
    <form ref={formRef} className={classes.form} onSubmit={onSubmit} noValidate>
      <fieldset className={classes.group}>
        <legend>The probe</legend>
        <TextInput label="Name" withAsterisk {...form.getInputProps('name')} />
        <Switch
          label="Runs"
          description="A paused probe keeps its results"
          {...form.getInputProps('is_active', { type: 'checkbox' })}
        />
      </fieldset>
      <fieldset className={classes.group}>
        <legend>When it runs, and when it alerts</legend>
        <div className={classes.pair}>
          <Select
            label="Runs every"
            data={intervalOptions(type.min_interval_seconds, Number(values.interval_seconds))}
            allowDeselect={false}
            {...form.getInputProps('interval_seconds')}
          />
          <NumberInput
            label="Gives up after"
            suffix=" ms"
            thousandSeparator=","
            min={100}
            max={60_000}
            step={1_000}
            clampBehavior="none"
            {...form.getInputProps('timeout_ms')}
          />
          <Select
            label="Alerts"
            data={thresholdOptions('failure', Number(values.failure_threshold))}
            allowDeselect={false}
            {...form.getInputProps('failure_threshold')}
          />
          <Select
            label="Clears"
            data={thresholdOptions('recovery', Number(values.recovery_threshold))}
            allowDeselect={false}
            {...form.getInputProps('recovery_threshold')}
          />
        </div>
        <p className={classes.muted}>{alertDelay(Number(values.interval_seconds), Number(values.failure_threshold))}</p>
      </fieldset>
      {fields.length > 0 && (
        <fieldset className={classes.group}>
          <legend>What it judges by</legend>
          <p className={classes.muted}>
            Settings that you leave as they are follow the defaults of the running version.
          </p>
          <div className={classes.settings}>
            {fields.map((field) => (
              <SchemaField
                key={field.name}
                field={field}
                value={values.config[field.name] ?? ''}
                onChange={(value) => form.setFieldValue(`config.${field.name}`, value)}
                error={textOf(form.errors[`config.${field.name}`])}
                isSet={probe?.secrets_set.includes(field.name) ?? false}
                isRemoved={removed.includes(field.name)}
                onRemove={(isRemoved) =>
                  setRemoved(isRemoved ? [...removed, field.name] : removed.filter((name) => name !== field.name))
                }
              />
            ))}
          </div>
        </fieldset>
      )}
      <FormEnd
        action={probe === undefined ? 'Add the probe' : 'Save'}
        isBusy={isBusy}
        isDisabled={lacks && probe === undefined}
        fault={rest}
      >
        {probe === undefined ? (
          <LinkButton to="/sites/$siteId/probes" params={{ siteId: site.id }} variant="default" ignoreBlocker>
            Cancel
          </LinkButton>
        ) : (
          <LinkButton to="/probes/$probeId" params={{ probeId: probe.id }} variant="default" ignoreBlocker>
            Cancel
          </LinkButton>
        )}
        {lacks && probe === undefined && (
          <span className={classes.muted}>The site still needs something: see above.</span>
        )}
      </FormEnd>
    </form>
  )
}

const textOf = (error: unknown): string | undefined => (typeof error === 'string' ? error : undefined)

const DEFAULT_TIMEOUT_MS = 10_000

function initialValues(type: ProbeTypeRecord, probe: ProbeRecord | undefined): Values {
  return {
    name: probe?.name ?? type.title,
    is_active: probe?.is_active ?? true,
    interval_seconds: String(probe?.interval_seconds ?? type.default_interval_seconds),
    timeout_ms: probe?.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    failure_threshold: String(probe?.failure_threshold ?? THRESHOLDS[0]),
    recovery_threshold: String(probe?.recovery_threshold ?? THRESHOLDS[0]),
    config: initialConfig(fieldsOf(type), probe?.config ?? {}),
  }
}

/** The fields of the site that the type needs and the site lacks, to fill in here. */
export function NeedsBox({ type, site }: { type: ProbeTypeRecord; site: SiteRecord }) {
  const missing = missingOf(type.needs, site)
  if (missing.length === 0) return null
  const fields = [...new Set(missing.flat())]
  return <Box key={fields.join()} alternatives={missing} fields={fields} site={site} />
}

interface BoxProps {
  alternatives: readonly (readonly TrackingField[])[]
  fields: readonly TrackingField[]
  site: SiteRecord
}

function Box({ alternatives, fields, site }: BoxProps) {
  const update = useUpdateSite(site.id)
  const form = useForm({ initialValues: Object.fromEntries(fields.map((field) => [field, ''])) })
  const { formRef, onSubmit, isBusy, rest } = useSaving(form, (values) => {
    const filled = Object.entries(values).filter(([, value]) => value.trim() !== '')
    return update.mutateAsync(Object.fromEntries(filled.map(([field, value]) => [field, value.trim()])))
  })
  const isEmpty = Object.values(form.values).every((value) => value.trim() === '')
  return (
    <form ref={formRef} className={classes.needs} onSubmit={onSubmit} aria-label={`What ${site.name} still needs`}>
      <h3 className={classes.needsHead}>
        <CircleAlert size={16} aria-hidden />
        {alternatives.length > 1
          ? 'The site lacks what this check needs: fill in one of these'
          : 'The site lacks what this check needs: fill it in here'}
      </h3>
      {fields.map((field) => {
        const { label, description, placeholder } = TRACKING_FIELDS[field]
        return (
          <TextInput
            key={field}
            label={label}
            description={description}
            placeholder={placeholder}
            {...form.getInputProps(field)}
          />
        )
      })}
      {rest !== null && (
        <p className={classes.fault} role="alert">
          {rest}
        </p>
      )}
      <Button type="submit" variant="default" className={classes.save} disabled={isEmpty} loading={isBusy}>
        Save to the site
      </Button>
    </form>
  )
}
