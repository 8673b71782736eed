import '@mantine/core/styles/Pill.layer.css'
import '@mantine/core/styles/PillsInput.layer.css'
import { Button, Group, Input, NumberInput, PasswordInput, Select, Switch, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { whole } from '../../lib/words.ts'
import { type Field, type FieldValue, isDefault } from './schema-fields.ts'

interface SchemaFieldProps {
  field: Field
  value: FieldValue
  onChange: (value: FieldValue) => void
  error: string | undefined
  /** Whether the service has a value for this secret, which no one can read. */
  isSet: boolean
  isRemoved: boolean
  onRemove: (isRemoved: boolean) => void
}

/** The field of one setting, drawn from its schema. */
export function SchemaField({ field, value, onChange, error, isSet, isRemoved, onRemove }: SchemaFieldProps) {
  const hint = isDefault(field, value) ? null : defaultHint(field)
  const shared = {
    label: field.label,
    description: hint === null ? field.description : `${field.description}. ${hint}`,
    error,
    withAsterisk: field.isRequired,
  }
  switch (field.kind) {
    case 'number':
      return (
        <NumberInput
          {...shared}
          value={typeof value === 'number' ? value : String(value)}
          onChange={onChange}
          {...given({ min: field.min, max: field.max })}
          step={field.step ?? (field.isInteger ? 1 : 0.05)}
          allowDecimal={!field.isInteger}
          clampBehavior="none"
          placeholder={field.fallback === null ? 'not set' : String(field.fallback)}
          {...(field.unit === null ? {} : { suffix: ` ${field.unit}` })}
          thousandSeparator=","
        />
      )
    case 'switch':
      return (
        <Switch
          label={field.label}
          description={shared.description}
          error={error}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          {...shared}
          data={field.options}
          value={String(value)}
          onChange={(next) => onChange(next ?? '')}
          allowDeselect={false}
        />
      )
    case 'list':
      return (
        <TagsInput
          {...shared}
          value={Array.isArray(value) ? value : []}
          onChange={onChange}
          acceptValueOnBlur
          placeholder={field.of === 'number' ? 'A number, then Enter' : 'Type one, then Enter'}
          {...given({ maxTags: field.maxItems })}
        />
      )
    case 'secret':
      if (isSet) return <SecretSet {...{ field, value, onChange, error, isRemoved, onRemove }} />
      return (
        <PasswordInput
          {...shared}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="off"
        />
      )
    case 'text':
      return (
        <TextInput
          {...shared}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
          placeholder="not set"
          {...given({ maxLength: field.maxLength })}
        />
      )
  }
}

/** A hint with the default, shown when the value differs. */
function defaultHint({ fallback, unit }: Field): string | null {
  if (fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return null
  const value = typeof fallback === 'number' && fallback >= 1_000 ? whole(fallback) : shown(fallback)
  return `Usually ${value}${unit === null ? '' : ` ${unit}`}`
}

const shown = (value: FieldValue): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value))

/** The props without undefined values. */
const given = <T extends object>(props: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

interface SecretSetProps {
  field: Field
  value: FieldValue
  onChange: (value: FieldValue) => void
  error: string | undefined
  isRemoved: boolean
  onRemove: (isRemoved: boolean) => void
}

/** A secret that is set: it can be replaced or removed, but not read. */
function SecretSet({ field, value, onChange, error, isRemoved, onRemove }: SecretSetProps) {
  const [isReplacing, setReplacing] = useState(false)
  if (isReplacing) {
    return (
      <PasswordInput
        label={field.label}
        description={`${field.description}. Left empty, the present one stays`}
        error={error}
        value={String(value)}
        onChange={(event) => onChange(event.currentTarget.value)}
        autoComplete="off"
        autoFocus
      />
    )
  }
  return (
    <Input.Wrapper label={field.label} description={field.description} error={error} labelElement="div">
      <Group gap="sm" mt="xs">
        <span>{isRemoved ? 'Is removed when you save' : 'Set'}</span>
        {!isRemoved && (
          <Button variant="default" size="xs" onClick={() => setReplacing(true)}>
            Replace
          </Button>
        )}
        <Button variant="subtle" color="gray" size="xs" onClick={() => onRemove(!isRemoved)}>
          {isRemoved ? 'Keep it' : 'Remove'}
        </Button>
      </Group>
    </Input.Wrapper>
  )
}
