import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { CircleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ProbeTypeRecord } from '../../api/probes.ts'
import { type SiteRecord, useUpdateSite } from '../../api/sites.ts'
import { faultsOf } from '../../lib/form-faults.ts'
import { missingOf, TRACKING_FIELDS, type TrackingField } from '../../lib/site-fields.ts'
import classes from './form.module.css'

/** What the type cannot do without, to be filled in on the spot. Nothing when the site has it. */
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
  const [rest, setRest] = useState<string | null>(null)
  const form = useForm({ initialValues: Object.fromEntries(fields.map((field) => [field, ''])) })
  const save = async (values: Record<string, string>) => {
    const filled = Object.entries(values).filter(([, value]) => value.trim() !== '')
    try {
      await update.mutateAsync(Object.fromEntries(filled.map(([field, value]) => [field, value.trim()])))
    } catch (thrown) {
      const faults = faultsOf(thrown instanceof Error ? thrown : new Error(String(thrown)), fields)
      form.setErrors(faults.fields)
      setRest(faults.rest)
    }
  }
  const isEmpty = Object.values(form.values).every((value) => value.trim() === '')
  return (
    <form className={classes.needs} onSubmit={form.onSubmit(save)} aria-label={`What ${site.name} still needs`}>
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
      <Button type="submit" variant="default" className={classes.save} disabled={isEmpty} loading={update.isPending}>
        Save to the site
      </Button>
    </form>
  )
}
