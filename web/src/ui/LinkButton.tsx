import {
  type AnchorProps,
  Anchor as AnchorText,
  Button,
  type ButtonProps,
  Menu,
  type MenuItemProps,
} from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ReactNode } from 'react'

type Anchor<P> = P & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof P> & { children?: ReactNode }

/** A link to a page that looks like a button. */
export const LinkButton = createLink((props: Anchor<ButtonProps>) => <Button component="a" {...props} />)

/** A link to a page in a menu. */
export const LinkMenuItem = createLink((props: Anchor<MenuItemProps>) => <Menu.Item component="a" {...props} />)

/** A link to a page in a text. */
export const TextLink = createLink((props: Anchor<AnchorProps>) => <AnchorText {...props} inherit underline="always" />)
