import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { type ComponentProps, createElement, type FocusEvent, type MouseEvent, useState } from 'react'

const accent: MantineColorsTuple = [
  '#eef3ff',
  '#dbe5fe',
  '#b9cdfd',
  '#8fb0ff',
  '#6f95f5',
  '#3d6fe0',
  '#2f5fd0',
  '#2653bd',
  '#1f4090',
  '#1a3474',
]

/** The critical colour, for actions that cannot be undone. */
const danger: MantineColorsTuple = [
  '#fde8e7',
  '#f9cfcd',
  '#f4aaa7',
  '#ff8680',
  '#f2615c',
  '#dd433f',
  '#c62d29',
  '#b42420',
  '#8f1d1a',
  '#701714',
]

/** Slate, lightest first, for Mantine's neutral parts in the light scheme. */
const gray: MantineColorsTuple = [
  '#f5f7f9',
  '#edf0f4',
  '#dde2e9',
  '#cbd2dc',
  '#b3bcc8',
  '#8793a3',
  '#53606f',
  '#3e4a58',
  '#2a3440',
  '#17202b',
]

/** Slate, from text to background, for the dark scheme. */
const dark: MantineColorsTuple = [
  '#e3e9f0',
  '#c3cdd8',
  '#9aa8b8',
  '#647386',
  '#29343f',
  '#232d38',
  '#1d2631',
  '#161d26',
  '#0f141b',
  '#0b1016',
]

const OVERLAY = {
  transitionProps: { duration: 0 },
  overlayProps: { backgroundOpacity: 0.45 },
  closeButtonProps: { 'aria-label': 'Close' },
  // Its title is in a `<header>`, which would count as a second banner of the page.
  attributes: { header: { role: 'presentation' } },
}

const BUTTON = 'button'

/**
 * A button that is disabled while it has the focus would lose it, and the keyboard would begin at the top of the page. One that loads, which Mantine
 * disables, or that becomes disabled under the focus does nothing, and is disabled in earnest once the focus has left it.
 */
const KeepingButton = ({
  disabled = false,
  type = 'button',
  onFocus,
  onBlur,
  ...props
}: ComponentProps<'button'> & { [data: `data-${string}`]: unknown }) => {
  const [hasFocus, setHasFocus] = useState(false)
  const isBusy = props['data-loading'] === true && props['data-disabled'] !== true
  const isKept = isBusy || (disabled && hasFocus)
  return createElement(BUTTON, {
    ...props,
    type,
    onFocus: (event: FocusEvent<HTMLButtonElement>) => {
      setHasFocus(true)
      onFocus?.(event)
    },
    onBlur: (event: FocusEvent<HTMLButtonElement>) => {
      setHasFocus(false)
      onBlur?.(event)
    },
    ...(isKept ? { 'aria-disabled': true, onClick: (event: MouseEvent) => event.preventDefault() } : { disabled }),
  })
}

/** The options scroll in the list itself, which belongs to its field: Mantine's own place for them is one that no key reaches, for axe. */
const LIST = { defaultProps: { withScrollArea: false } }

/** Mantine's components in our scale. Our own styles use `tokens.css` instead. */
export const theme = createTheme({
  colors: { accent, danger, gray, dark },
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 6 },
  fontFamily: 'var(--font-text)',
  fontFamilyMonospace: 'var(--font-code)',
  headings: { fontFamily: 'var(--font-text)', fontWeight: '600' },
  fontSizes: {
    xs: 'var(--type-12)',
    sm: 'var(--type-13)',
    md: 'var(--type-14)',
    lg: 'var(--type-16)',
    xl: 'var(--type-20)',
  },
  spacing: {
    xs: 'var(--space-4)',
    sm: 'var(--space-8)',
    md: 'var(--space-12)',
    lg: 'var(--space-16)',
    xl: 'var(--space-24)',
  },
  radius: { xs: '3px', sm: '4px', md: 'var(--radius)', lg: 'var(--radius)', xl: 'var(--radius)' },
  defaultRadius: 'md',
  shadows: {
    xs: 'none',
    sm: 'none',
    md: 'var(--overlay-shadow)',
    lg: 'var(--overlay-shadow)',
    xl: 'var(--overlay-shadow)',
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm', component: KeepingButton } },
    ActionIcon: { defaultProps: { component: KeepingButton } },
    Select: LIST,
    Autocomplete: LIST,
    MultiSelect: LIST,
    TagsInput: LIST,
    // Mantine's 11 px are not in our scale.
    InputWrapper: {
      vars: () => ({
        label: {},
        description: { '--input-description-size': 'var(--type-12)' },
        error: { '--input-error-size': 'var(--type-12)' },
      }),
    },
    Tooltip: { defaultProps: { openDelay: 150, transitionProps: { duration: 0 }, withinPortal: true } },
    Modal: { defaultProps: { ...OVERLAY, centered: true } },
    Drawer: { defaultProps: OVERLAY },
    // Its first item has the focus, not an empty element that screen readers have to skip.
    Menu: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'md', withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: { transitionProps: { duration: 0 }, shadow: 'md' } },
  },
})

const shared = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-muted)',
  '--mantine-color-placeholder': 'var(--text-muted)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line)',
  '--mantine-color-error': 'var(--critical-text)',
}

/** Mantine takes its surfaces and texts from our tokens, so that there is one set for both schemes. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared })
