"""A method's vectors at a generic round, step and client, and the inequalities that assumptions give.

The core's walk goes from round to round and knows every client. Here the round is any round, a mean over the clients
is a mark and no sum, and what a step makes of a vector is looked up in the rules when a premise names it: no walk is
shared.
"""
