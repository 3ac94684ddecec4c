"""Queues over the cards of the inventory: quota, order, lending, and who may ask."""
