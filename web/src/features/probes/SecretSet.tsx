import { Button, Group, Input, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import type { Field, FieldValue } from './schema-fields.ts'

interface Props {
  field: Field
  value: FieldValue
  onChange: (value: FieldValue) => void
  error: string | undefined
  isRemoved: boolean
  onRemove: (isRemoved: boolean) => void
}

/** A secret that is set: it can be replaced or removed, and never read. */
export function SecretSet({ field, value, onChange, error, isRemoved, onRemove }: Props) {
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
